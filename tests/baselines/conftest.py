"""What tests of rivals share."""

from ..solvers.conftest import one_thread as one_thread
