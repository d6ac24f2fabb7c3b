"""What is analyzed: sources of bytes, and the readers that turn them into a corpus. Never imports torch."""
