import { Component, createElement, type FunctionComponent } from "preact";

/** The component, drawn again only where a property is another one. */
export function memo<Properties extends object>(drawn: FunctionComponent<Properties>) {
  return class extends Component<Properties> {
    shouldComponentUpdate(next: Properties) {
      return Object.entries(next).some(([name, value]) => this.props[name as keyof Properties] !== value);
    }

    render() {
      return createElement(drawn, this.props);
    }
  };
}
