// 
function o({data:t}){return t?JSON.parse(new TextDecoder().decode(t)):null}var a=new WeakSet;function r(t){let e=o(t);if(e)try{e.text===null?d(t,sessionStorage.getItem(e.name)):e.text?sessionStorage.setItem(e.name,e.text):sessionStorage.removeItem(e.name)}catch{}}function d({parentElement:t,setStateValue:e},n){!n||a.has(t)||(a.add(t),e("text",n))}export{r as default};
