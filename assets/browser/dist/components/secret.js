// 
function n({data:t}){return t?JSON.parse(new TextDecoder().decode(t)):null}function a(t){let e=n(t),o=`#${e?.name}=`;if(!e||!location.hash.startsWith(o))return;let r=location.hash.slice(o.length);history.replaceState(history.state,"",location.pathname+location.search),t.setStateValue("text",r)}export{a as default};
