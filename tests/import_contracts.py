"""`Interfaces`: a contract of import-linter about what packages import of each other."""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class Interfaces(Contract):
    """A package imports other packages as a whole: names of their `__all__`, not of their modules.

    Kernels may use kernels of other packages. Compiled, they find them through `.pxd` files, not by imports.

    Options
    -------
    container : the package whose packages are checked
    open_packages : packages whose modules may be imported, because they have no common interface
    """

    container = fields.StringField()
    open_packages = fields.ListField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find imports of modules by other packages."""
        container, opened = str(self.container), set(self.open_packages or [])
        found = []
        for package in sorted(graph.find_children(container)):
            if package.removeprefix(f"{container}.") in opened:
                continue
            for module in sorted(graph.find_descendants(package)):
                importers = sorted(graph.find_modules_that_directly_import(module))
                found += [
                    (importer, module, package)
                    for importer in importers
                    if not f"{importer}.".startswith(f"{package}.")
                    and not (importer.endswith("kernels") and module.endswith("kernels"))
                ]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each import with the package to import from."""
        found: list[tuple[Any, ...]] = check.metadata["found"]
        for importer, module, package in found:
            output.print_error(f"{importer} imports {module}; import the name from {package}")
