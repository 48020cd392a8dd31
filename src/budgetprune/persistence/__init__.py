"""Model files: one container format, strict JSON, and a registry of sections, one for each kind of object."""

from budgetprune.persistence.container import File, is_container
from budgetprune.persistence.errors import errors_name_file
from budgetprune.persistence.sections import (
    PACKED,
    SECTIONS,
    VERSION,
    Content,
    Section,
    StoredSections,
    add_prefix,
    check_arrays,
    load_section,
    open_sections,
    remove_prefix,
    save_sections,
)

__all__ = [
    "PACKED",
    "SECTIONS",
    "VERSION",
    "Content",
    "File",
    "Section",
    "StoredSections",
    "add_prefix",
    "check_arrays",
    "errors_name_file",
    "is_container",
    "load_section",
    "open_sections",
    "remove_prefix",
    "save_sections",
]
