/** What specviz/player/html_file.py writes before a built program: its texts, and their language. */
declare const TEXTS: { language: string };
