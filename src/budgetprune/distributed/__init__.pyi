from .engine import Engine as Engine
from .engine import LocalEngine as LocalEngine
from .engine import WorkerLostError as WorkerLostError
from .problem import DistributedProblem as DistributedProblem
from .ray_engine import RayEngine as RayEngine
from .tables import ParquetRows as ParquetRows
