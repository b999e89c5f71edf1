/**
 * Arrow's IPC streams and files, one or several, and the folders of them that Hugging Face datasets are saved as:
 * {@link io.penstock.store.arrow.ArrowStore}.
 */
package io.penstock.store.arrow;
