// 
var s="specviz-feed";var n=window;function o(e){let t=(n.specvizRuns??[]).filter(({key:i})=>i!==e.key);n.specvizRuns=[e,...t].slice(0,4),window.dispatchEvent(new Event(s))}function r({data:e}){return e?JSON.parse(new TextDecoder().decode(e)):null}function d(e){let t=r(e);t&&o(t)}export{d as default};
