// 
var r="specviz-feed";var n=window;function o(e){let t=(n.specvizRuns??[]).filter(({key:d})=>d!==e.key);n.specvizRuns=[e,...t].slice(0,4),window.dispatchEvent(new Event(r))}function a({data:e}){return e?JSON.parse(new TextDecoder().decode(e)):null}function i(e){let t=a(e);t&&o(t)}export{i as default};
