"""What people and other programs read: stories, the console, the result documents."""
