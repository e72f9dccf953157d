"""One thin file a command. Heavy modules are imported when a command runs: --version and --help answer at once."""
