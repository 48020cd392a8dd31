from .engine import StagedEngine as StagedEngine
from .predictor import StagedPredictor as StagedPredictor
