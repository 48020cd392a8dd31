"""The commands of ``budgetprune``, a module for each; they need the extra ``budgetprune[cli]``."""
