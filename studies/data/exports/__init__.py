"""Files of a study's data, each with codebook, counts, checksums, allocation log and flow."""

from __future__ import annotations

from studies.data.exports.export_files import FORMATS, exported_modes, write_export
from studies.data.exports.table_files import Written, zipped_to
from studies.data.exports.tables import Options

__all__ = ["FORMATS", "Options", "Written", "exported_modes", "write_export", "zipped_to"]
