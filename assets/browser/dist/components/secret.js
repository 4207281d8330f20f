// 
function n({data:t}){return t?JSON.parse(new TextDecoder().decode(t)):null}function r(t){let e=n(t),a=`#${e?.name}=`;if(!e||!location.hash.startsWith(a))return;let o=location.hash.slice(a.length);history.replaceState(history.state,"",location.pathname+location.search),t.setStateValue("text",o)}export{r as default};
