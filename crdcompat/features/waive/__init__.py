"""Acceptance of findings: waivers, a baseline, declarations of two-step growth."""
