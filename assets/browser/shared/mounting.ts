// A component that stays: Streamlit calls its function for every change of data or theme.

/** what Streamlit gives; `data` is missing until the first payload is here */
export interface Component<Data> {
  data: Uint8Array | null | undefined; // a `Data` as JSON, for `payloadOf`
  parentElement: ParentNode & Node;
  setStateValue: (name: string, value: unknown) => void;
  setTriggerValue: (name: string, value: unknown) => void;
}

export type Loaded<Data> = Omit<Component<Data>, "data"> & { data: Data }; // a component that has its data

export interface Mounted<Data> {
  node: HTMLElement;
  load: (component: Loaded<Data>) => void;
  stop: () => void;
}

/** What the server sent, if it has. The component's place then says that its script runs: nothing else on the page shows that. */
export function payloadOf<Data>({ data, parentElement }: Component<Data>): Data | null {
  if (!data) return null;
  const place = parentElement instanceof ShadowRoot ? parentElement.host : parentElement;
  if (place instanceof HTMLElement) place.dataset.running = "";
  return JSON.parse(new TextDecoder().decode(data));
}

/** The function Streamlit calls: it makes one object for each mount and hands it every payload. `selector`: of the component's outer element */
export function mount<Data>(selector: string, make: (root: ParentNode & Node) => Mounted<Data>) {
  const mounted: WeakMap<Node, Mounted<Data>> = new WeakMap();
  return (component: Component<Data>) => {
    const root = component.parentElement;
    const node = root.querySelector(selector);
    const before = mounted.get(root);
    const stays = before?.node === node;
    if (!stays) before?.stop();
    const current = before && stays ? before : make(root);
    mounted.set(root, current);
    const data = payloadOf(component);
    if (data) current.load({ ...component, data });
    // Streamlit also calls this after an outdated update of a component that stays: then nothing ends.
    return () => {
      if (root.isConnected && node?.isConnected) return;
      current.stop();
      mounted.delete(root);
    };
  };
}

// ---- what goes back to the server: each report makes Streamlit run its script again, so a component reports rarely

const WAIT = 350; // ms in which another movement replaces the report

export class Reporter {
  reported: number | null = null;
  send: (place: number) => void = () => {};
  timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** `place`: where the visitor is; null while there is nothing to report */
  constructor(public place: () => number | null) {}

  /** Report soon, if the visitor has stopped and the place is new. */
  report() {
    this.stop();
    this.timer = setTimeout(() => {
      const place = this.place();
      if (place === null || place === this.reported) return;
      this.reported = place;
      this.send(place);
    }, WAIT);
  }

  stop() {
    clearTimeout(this.timer);
  }
}
