// A component that stays: Streamlit calls its function for every change of data or theme.

/**
 * @template Data
 * @typedef {object} Component what Streamlit gives; `data` is missing until the first payload is here
 * @property {Uint8Array | null | undefined} data a `Data` as JSON, for `payloadOf`
 * @property {ParentNode & Node} parentElement
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/**
 * @template Data
 * @typedef {Omit<Component<Data>, "data"> & { data: Data }} Loaded a component that has its data
 */

/**
 * @template Data
 * @typedef {object} Mounted one component on the page
 * @property {HTMLElement} node
 * @property {(component: Loaded<Data>) => void} load
 * @property {() => void} stop
 */

/**
 * What the server sent, if it has.
 * @template Data
 * @param {Component<Data>} component
 * @returns {Data | null}
 */
export function payloadOf({ data }) {
  return data ? JSON.parse(new TextDecoder().decode(data)) : null;
}

/**
 * The function Streamlit calls: it makes one object for each mount and hands it every payload.
 * @template Data
 * @param {string} selector of the component's outer element
 * @param {(root: ParentNode & Node) => Mounted<Data>} make
 */
export function mount(selector, make) {
  /** @type {WeakMap<Node, Mounted<Data>>} */
  const mounted = new WeakMap();
  /** @param {Component<Data>} component */
  return (component) => {
    const root = component.parentElement;
    const node = root.querySelector(selector);
    let current = mounted.get(root);
    if (current?.node !== node) {
      current?.stop();
      current = make(root);
      mounted.set(root, current);
    }
    const data = payloadOf(component);
    if (data) current.load({ ...component, data });
    const ended = current;
    // Streamlit also calls this after an outdated update of a component that stays: then nothing ends.
    return () => {
      if (root.isConnected && node?.isConnected) return;
      ended.stop();
      mounted.delete(root);
    };
  };
}
