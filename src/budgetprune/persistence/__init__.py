"""Model files: one container format, strict JSON, and a registry of sections, one for each kind of object."""

from budgetprune.persistence.container import LONGEST_HEADER, File, is_container
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
from budgetprune.persistence.strict_json import read_json

__all__ = [
    "LONGEST_HEADER",
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
    "read_json",
    "remove_prefix",
    "save_sections",
]
