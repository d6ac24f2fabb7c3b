"""The library's functions and what they return; `import bertviz_core` has all of their names."""
