// 
function n({data:e}){return e?JSON.parse(new TextDecoder().decode(e)):null}function a(e){let t=n(e),o=location.protocol==="https:"?"; secure":"";t&&(document.cookie=`${t.name}=${t.value}; max-age=${t.seconds}; path=/; samesite=lax${o}`)}export{a as default};
