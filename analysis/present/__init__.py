"""What a report says, one module a topic: its sections, sentences, tables and charts, from the results alone."""
