// 
function o({data:t,parentElement:e}){if(!t)return null;let n=e instanceof ShadowRoot?e.host:e;return n instanceof HTMLElement&&(n.dataset.running=""),JSON.parse(new TextDecoder().decode(t))}function a(t){let e=o(t),n=location.protocol==="https:"?"; secure":"";e&&(document.cookie=`${e.name}=${e.value}; max-age=${e.seconds}; path=/; samesite=lax${n}`)}export{a as default};
