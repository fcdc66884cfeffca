import Messages
