"""One file for each command. Heavy modules are imported when a command runs, so --version and --help answer at once."""
