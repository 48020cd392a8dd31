"""``python -m budgetprune``."""

from budgetprune.cli import main

main()
