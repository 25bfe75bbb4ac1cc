// Runs before a page's own scripts: chance, clock and frames are the same on every run. Frames wait until `tuffPage.go(n)`
// lets n of them run; between them the page is drawn as ever.
(() => {
    let seed = 0x2545f491;
    Math.random = () => {
        seed ^= seed << 13;
        seed ^= seed >>> 17;
        seed ^= seed << 5;
        return (seed >>> 0) / 4294967296;
    };
    const native = window.requestAnimationFrame.bind(window);
    let frame = 0, left = 0, next = 1, done = () => {}, ticking = false;
    const now = () => frame * 16;
    Date.now = now;
    Date.prototype.getTime = now;
    performance.now = now;
    let held = new Map();
    const tick = () => {
        if (left === 0 || held.size === 0) {
            ticking = false;
            // What the last frame drew is shown with the next one.
            if (left === 0) native(() => native(done));
            return;
        }
        left -= 1;
        frame += 1;
        const due = held;
        held = new Map();
        for (const call of due.values()) {
            try {
                call(now());
            } catch (e) {
                reportError(e);
            }
        }
        native(tick);
    };
    const start = () => {
        if (!ticking && left > 0 && held.size > 0) {
            ticking = true;
            native(tick);
        }
    };
    window.requestAnimationFrame = call => {
        held.set(next, call);
        start();
        return next++;
    };
    window.cancelAnimationFrame = id => held.delete(id);
    window.tuffPage = {
        // Resolves to true after so many frames, to false when the page has asked for none for so long.
        go: (frames, milliseconds) => new Promise(resolve => {
            let before = -1;
            const timer = setInterval(() => {
                if (frame !== before) {
                    before = frame;
                } else {
                    left = 0;
                    clearInterval(timer);
                    resolve(false);
                }
            }, milliseconds);
            left = frames;
            done = () => {
                clearInterval(timer);
                resolve(true);
            };
            start();
        }),
        // Presses the start button, and hides what is written above the canvas.
        clean: () => {
            document.getElementById('startButton')?.click();
            const style = document.createElement('style');
            style.textContent =
                '#info, button, input, body > div.lil-gui, body > div.lbl { display: none !important; }';
            document.head.append(style);
            for (const e of document.querySelectorAll('div')) {
                if (getComputedStyle(e).zIndex === '10000') e.remove();
            }
        },
    };
    window.TESTING = true;
})();
