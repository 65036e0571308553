"""REST API of uploads and datasets."""
