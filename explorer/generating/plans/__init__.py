"""What a scene is about: areas behind gates, keys that open them, and the order that follows; no places yet."""
