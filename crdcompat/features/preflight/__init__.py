"""preflight: can this cluster go back to an older release now?"""
