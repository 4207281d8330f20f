// 
function o({data:e}){return e?JSON.parse(new TextDecoder().decode(e)):null}function r(e){let t=o(e),n=location.protocol==="https:"?"; secure":"";t&&(document.cookie=`${t.name}=${t.value}; max-age=${t.seconds}; path=/; samesite=lax${n}`)}export{r as default};
