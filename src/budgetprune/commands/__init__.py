"""Commands of ``budgetprune``, one module each; they need the extra ``budgetprune[cli]``."""
