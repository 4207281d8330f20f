"""What plays a run: its data for the stage, the joined scripts, the page that works offline. No Streamlit, no torch."""
