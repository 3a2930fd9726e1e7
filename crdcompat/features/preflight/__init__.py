"""preflight: may this cluster go back to that release, now?"""
