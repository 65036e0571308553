"""The gallery of components at `/design/`: shared templates in every state, drawn from samples.

Samples are made in memory: nothing here reads or writes the database. A component belongs in the gallery if several
pages use its template or its style; pages as a whole are pictured by `make screenshots`.
"""
