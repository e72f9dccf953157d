"""Code outside this project: named functions, programs that answer through a protocol, and what both release."""
