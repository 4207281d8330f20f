// 
var d="specviz-feed";var i=window;function o(e){i.specvizFeed=e,window.dispatchEvent(new Event(d))}function a({data:e,parentElement:t}){if(!e)return null;let n=t instanceof ShadowRoot?t.host:t;return n instanceof HTMLElement&&(n.dataset.running=""),JSON.parse(new TextDecoder().decode(e))}function r(e){let t=a(e);t&&o(t)}export{r as default};
