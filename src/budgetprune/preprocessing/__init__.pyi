from .preprocessing import Preprocessing as Preprocessing
