"""What takes rights away: system calls, files, users, namespaces."""
