// The search of the site runs in a worker, which browsers refuse to pages of file://. There, a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inner.importScripts = (...urls) => urls.reduce((done, each) => done.then(() => this.load(each)), Promise.resolve());
      this.load(String(url)).then(() => {
        for (const data of this.waiting) this.send(data);
        this.waiting = null;
      });
    }
    load(url) {
      return new Promise((done, failed) => {
        const script = this.inner.document.createElement("script");
        Object.assign(script, { src: url, onload: done, onerror: failed });
        this.inner.document.body.append(script);
      });
    }
    send(data) {
      this.inner.dispatchEvent(new MessageEvent("message", { data }));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.send(data);
    }
  };
}
