"""Tests of budgetprune, and programs that test it longer."""

from tests.uncompiled import replace_kernels

replace_kernels()  # before any of them is imported
