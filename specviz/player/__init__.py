"""What plays a run: its data for the stage, the joined scripts, the page that works offline.

It knows no Streamlit and no torch.
Begin with payload.py, then data.py.
"""
