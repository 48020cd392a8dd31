"""Process that makes a model for another budget."""

from __future__ import annotations

import sys

# Status if the budget is not possible; the reason is printed.
REFUSED = 3


def main(model: str, out: str, budget: float) -> int:
    """Write the model at another budget; return the exit status."""
    from budgetprune.errors import InvalidInputError
    from budgetprune.model import BudgetModel
    from budgetprune.workflow import rebudget_model

    loaded = BudgetModel.load(model)
    try:
        other = rebudget_model(loaded, budget)
    except InvalidInputError as error:
        print(error)
        return REFUSED
    other.save(out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
