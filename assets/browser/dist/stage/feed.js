// 
var r="specviz-feed";var i=window;function n(e){i.specvizFeed=e,window.dispatchEvent(new Event(r))}function o({data:e}){return e?JSON.parse(new TextDecoder().decode(e)):null}function s(e){let t=o(e);t&&n(t)}export{s as default};
