from .access import Access as Access
from .app import create_app as create_app
from .launch import run as run
from .options import Limits as Limits
from .options import ServerOptions as ServerOptions
from .served import ServedModel as ServedModel
from .supervisor import WorkerError as WorkerError
