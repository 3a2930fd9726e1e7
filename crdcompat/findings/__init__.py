"""Findings: changes judged by rules, with severity, waivers, evidence and locations."""
