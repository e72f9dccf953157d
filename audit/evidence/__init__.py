"""From laws, walks, runs and clocks to evidence."""
