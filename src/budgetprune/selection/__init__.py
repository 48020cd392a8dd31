"""Selection inside `fit`: roles of rows, candidates, cross-fitting, choices, the final model.

=====================  =================================================================================
`rows`                 T and V; halves of V for cross-fitting
`candidates`           settings to choose from: measures of node errors, refits, slacks
`context`              inputs that all candidates share
`fold`                 cross-fitting at full cost
`decided_fold`         cross-fitting at decided cost
`choice`               choice of the settings by their scores
`tradeoff`             cost and score of every budget
`final_model`          the chosen point, refitted on T and V
`select`               all of these in order
=====================  =================================================================================
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
