"""Code outside this project: named functions, and programs that answer through a protocol."""
