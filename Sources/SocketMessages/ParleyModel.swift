// The words that messages share with the gateway's ports come with them.
@_exported public import ParleyModel
