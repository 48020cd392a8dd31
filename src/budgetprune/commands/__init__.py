"""Commands of ``budgetprune``, one module each; they need the extra ``budgetprune[cli]``."""

from budgetprune.commands.registry import register_command, register_group, unregister_command

__all__ = ["register_command", "register_group", "unregister_command"]
