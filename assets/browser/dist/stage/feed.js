// 
var a="specviz-feed";var d=window;function n(e){d.specvizFeed=e,window.dispatchEvent(new Event(a))}function o({data:e}){return e?JSON.parse(new TextDecoder().decode(e)):null}function r(e){let t=o(e);t&&n(t)}export{r as default};
