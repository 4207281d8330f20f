// 
function o({data:t}){return t?JSON.parse(new TextDecoder().decode(t)):null}var r=new WeakSet;function s(t){let e=o(t);if(e)try{e.text===null?a(t,sessionStorage.getItem(e.name)):e.text?sessionStorage.setItem(e.name,e.text):sessionStorage.removeItem(e.name)}catch{}}function a({parentElement:t,setStateValue:e},n){!n||r.has(t)||(r.add(t),e("text",n))}export{s as default};
