// A sentence; the tokens that it quotes are what a model wrote: no browser translates them.

export function Said({ text }: { text: string }) {
  return <>{text.split(/(“[^”]*”)/).map((part, i) => (i % 2 ? <bdi key={i} translate={false}>{part}</bdi> : part))}</>;
}
